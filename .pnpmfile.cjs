module.exports = {
  hooks: {
    updateConfig: (config) => {
      config.allowBuilds = { ...config.allowBuilds, esbuild: true, dprint: true }
      return config
    }
  }
}

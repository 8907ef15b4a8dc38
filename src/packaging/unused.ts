/** What stands in the bundle for a package that is imported but never used. */
export default undefined

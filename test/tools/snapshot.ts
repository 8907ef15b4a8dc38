/** Vitest's file snapshots want its own `expect`. */
export const assertSnapshot = async (text: string, name: string): Promise<void> => {
  const { expect } = await import("vitest")
  await expect(text).toMatchFileSnapshot(`__snapshots__/${name}.json`)
}

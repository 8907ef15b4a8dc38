/** Replacement in the bundle of a package that is imported but never used. */
export default undefined

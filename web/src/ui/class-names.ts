/** Joins class names and skips values that are not strings. */
export const cx = (...names: unknown[]) => names.filter((name) => typeof name === 'string' && name).join(' ')

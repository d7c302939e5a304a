/** Class names, without those that do not apply. */
export const cx = (...names: unknown[]) => names.filter((name) => typeof name === 'string' && name).join(' ')

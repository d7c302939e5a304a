/** Suggests ENG for `Engineering`. */
export const suggestKey = (name: string) =>
  name
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^[0-9]+/, '')
    .slice(0, 3)

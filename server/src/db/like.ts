/** A pattern for LIKE and ILIKE: contains `text` literally. */
export const containing = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export const embeddedTests: string[]
export const repeatedOnPostgres: string[]

/** The path of the program; undefined if it is missing and cannot be installed. */
export function debianProgram(program: string, ...packages: string[]): Promise<string | undefined>
export function findProgram(program: string, env?: Record<string, string | undefined>): string | undefined

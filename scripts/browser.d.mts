export function findBrowser(env?: Record<string, string | undefined>): string | null
export function browser(): Promise<string>

// Loaded at first use: a process without A2A apps neither reads the library nor keeps it in memory.

export const loadTypes = (): Promise<typeof import('@a2a-js/sdk')> => import('@a2a-js/sdk')
export const loadClient = (): Promise<typeof import('@a2a-js/sdk/client')> => import('@a2a-js/sdk/client')

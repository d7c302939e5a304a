export const Board = (_: Record<string, unknown>) => null

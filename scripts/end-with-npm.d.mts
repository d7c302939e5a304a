export function endWithNpm(): void

/** The page to open after signing in. Accepts only pages of this origin, to prevent open redirects. */
export function safeNext(next: unknown, origin = location.origin): string {
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return '/'
  const url = new URL(next, origin)
  // "/.//evil.example" resolves to this origin, but its path alone is the address of another one.
  const isLocal = url.origin === origin && !url.pathname.startsWith('//')
  return isLocal ? url.pathname + url.search + url.hash : '/'
}

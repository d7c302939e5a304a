import { safeNext } from '../data/me.ts'

/** The invitation in the `next` URL, if any. `email` is empty if the link does not contain it. */
export function invitationIn(next: unknown): { email: string } | null {
  const { pathname, searchParams } = new URL(safeNext(next), location.origin)
  return pathname === '/invitations/accept' ? { email: searchParams.get('email') ?? '' } : null
}

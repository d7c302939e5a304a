import { safeNext } from '../data/me.ts'

/** The invitation that is accepted after signing in, if that is where one goes next: for whom it is, if its link says so. */
export function invitationIn(next: unknown): { email: string } | null {
  const { pathname, searchParams } = new URL(safeNext(next), location.origin)
  return pathname === '/invitations/accept' ? { email: searchParams.get('email') ?? '' } : null
}

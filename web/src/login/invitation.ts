import { useQuery } from '@tanstack/react-query'
import { api } from '../data/api.ts'
import { safeNext } from '../data/safe-next.ts'

const path = '/invitations/accept'

interface InvitationLink {
  token: string
  /** Empty if the link does not contain it. */
  email: string
}

/** The link of an invitation. Its secret is in the fragment, which browsers send to no server. */
export const invitationLink = (link: { token: string; email: string }) =>
  `${location.origin}${path}#${new URLSearchParams(link)}`

/** The invitation in the address: in its fragment, or in its query as in older links. */
export function invitationHere({ search, hash }: Pick<Location, 'search' | 'hash'> = location): InvitationLink {
  const parts = [new URLSearchParams(hash.slice(1)), new URLSearchParams(search)]
  const read = (name: string) => parts.map((part) => part.get(name)).find(Boolean) ?? ''
  return { token: read('token'), email: read('email') }
}

/** The invitation that `next` leads to, if any. The pages of signing in keep its fragment in their own address. */
export function invitationIn(next: unknown): InvitationLink | null {
  const { pathname, search, hash } = new URL(safeNext(next), location.origin)
  return pathname === path ? invitationHere({ search, hash: hash || location.hash }) : null
}

/** The page to open after signing in, with the fragment of the link that led to it. */
export function afterSignIn(next: unknown) {
  const page = safeNext(next)
  return page + ([path, '/verify-email'].includes(page.split(/[?#]/)[0] ?? '') ? location.hash : '')
}

/** The same words for links that were used, were revoked or have expired: the service does not tell them apart. */
export const invalidInvitation = {
  title: 'This invitation no longer works',
  hint: 'It was used, revoked or is older than 7 days. Ask for a new one.',
}

/** Who invites to which workspace. Fails if the invitation was used, was revoked or has expired. */
export const useInvitation = (token: string | undefined) =>
  useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.previewInvitation({ token: token ?? '' }),
    enabled: Boolean(token),
    staleTime: 60_000,
  })

import { api } from '../data/api.ts'
import { forgetSignOut, hasSignedOut } from './signed-out.ts'

/** Texts for `problem` in the address, by which the service says why single sign-on failed. */
const problems: Record<string, string> = {
  sso_failed: 'Single sign-on failed. Try again, or contact the operator of this instance.',
  sso_denied: 'The provider did not let you in.',
  sso_expired: 'That took too long, or was started in another browser. Try again.',
  sso_email_unverified: 'The provider does not confirm your e-mail address.',
  sso_not_allowed: 'Your account at the provider may not use this instance.',
  sso_no_account: 'You have no account here. Ask for an invitation.',
  sso_link_first: 'You have an account here already. Sign in to it first, then connect the provider under Account.',
  sso_in_use: 'That identity belongs to another account.',
}

export const ssoProblem = (problem: string | null | undefined) =>
  problem ? (problems[problem] ?? problems.sso_failed) : undefined

const redirectedKey = 'baton.sso-redirected'

/** Opens the provider's page. Afterwards the browser returns to `next`. */
export async function openProvider(
  provider: string,
  { purpose = 'sign_in', next }: { purpose?: 'sign_in' | 'link' | 'reauth'; next: string },
) {
  const { redirect_to } = await api.startSso({ provider_id: provider, purpose, next })
  forgetSignOut()
  location.assign(redirect_to)
  // The button stays busy until the page is left.
  await new Promise(() => {})
}

/** Whether to redirect without a click. Not twice within seconds: a login that does not last would never end. */
export function mayRedirect(): boolean {
  const last = Number(sessionStorage.getItem(redirectedKey) ?? 0)
  if (hasSignedOut() || Date.now() - last < 10_000) return false
  sessionStorage.setItem(redirectedKey, String(Date.now()))
  return true
}

// Apart from sso.ts, because every screen loads it. For this tab only: a new one may sign in at once again.
const key = 'baton.signed-out'

/** After sign-out, the sign-in page does not redirect to the provider, which would sign the user in again. */
export const noteSignOut = () => sessionStorage.setItem(key, '1')
export const forgetSignOut = () => sessionStorage.removeItem(key)
export const hasSignedOut = () => sessionStorage.getItem(key) !== null

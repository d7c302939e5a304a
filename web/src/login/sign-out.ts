import { api, isBatonError } from '../data/api.ts'
import { messageOf } from '../ui/problem.ts'
import { showToast } from '../ui/toast.tsx'
import { noteSignOut } from './signed-out.ts'

/** Opens `next` after signing out, or shows why signing out failed. */
export async function signOut(next: string) {
  try {
    await api.signOut()
  } catch (error) {
    if (!isBatonError(error, 'UNAUTHORIZED')) {
      showToast(`You are still signed in. ${messageOf(error)}`, { tone: 'bad' })
      return
    }
  }
  noteSignOut()
  location.assign(next)
}

import { api, isBatonError } from '../data/api.ts'
import { messageOf } from '../ui/problem.ts'
import { say } from '../ui/toast.tsx'

/** Leaves for `next` once the login has ended; while it has not, one is told so. */
export async function signOut(next: string) {
  try {
    await api.signOut()
  } catch (error) {
    if (!isBatonError(error, 'UNAUTHORIZED')) {
      say(`You are still signed in. ${messageOf(error)}`, { tone: 'bad' })
      return
    }
  }
  location.assign(next)
}

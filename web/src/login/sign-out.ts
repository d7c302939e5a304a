import { api, messageOf } from '../api.ts'
import { say } from '../ui/toast.tsx'

/** Leaves for `next` once the server has ended it; until then one is still signed in, and is told so. */
export async function signOut(next: string) {
  try {
    await api.signOut()
    location.assign(next)
  } catch (error) {
    say(`You are still signed in. ${messageOf(error)}`, { tone: 'bad' })
  }
}

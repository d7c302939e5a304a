import { api, queries } from './api.ts'
import { instanceQuery } from './instance.ts'
import { workspaceQuery } from './workspaces.ts'

const everyMs = 60_000
/** Shared by all tabs and page loads. */
const key = 'baton.presence'
const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart', 'focus'] as const

/** Tells the service that the user is active, at most once a minute, so that no notification is mailed meanwhile. */
export async function reportPresence() {
  const { mail } = await queries.fetchQuery(instanceQuery)
  if (!mail) return
  const report = () => {
    const now = Date.now()
    const age = now - Number(localStorage.getItem(key))
    if (document.visibilityState !== 'visible' || (age >= 0 && age < everyMs)) return
    // A workspace that is about to be deleted can only be read.
    if (queries.getQueryData(workspaceQuery.queryKey)?.deletion_at) return
    localStorage.setItem(key, String(now))
    // The next sign of the user tries again.
    api.setPresence().catch(() => {})
  }
  for (const sign of signs) window.addEventListener(sign, report, { passive: true, capture: true })
  report()
}

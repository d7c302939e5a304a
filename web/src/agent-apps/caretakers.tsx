import type { AgentApp } from '@baton/protocol'
import { usePeople } from '../data/workspaces.ts'

/** Who looks after an app, told to everybody else. */
export function ForCaretakers({ app }: { app: Pick<AgentApp, 'owner_user_id'> }) {
  const people = usePeople()
  const owner = app.owner_user_id ? people.get(app.owner_user_id)?.display_name : undefined
  return <>These are for {owner ? `${owner}, who registered the app, and for ` : ''}owners and admins.</>
}

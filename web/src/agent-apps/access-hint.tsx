import type { AgentApp } from '@baton/protocol'
import { usePeople } from '../data/workspaces.ts'

/** States who may see an app's secrets, webhook and deliveries. */
export function AccessHint({ app }: { app: Pick<AgentApp, 'owner_user_id'> }) {
  const people = usePeople()
  const owner = app.owner_user_id ? people.get(app.owner_user_id)?.display_name : undefined
  return <>Visible only to {owner ? `${owner}, who registered the app, and to ` : ''}owners and admins.</>
}

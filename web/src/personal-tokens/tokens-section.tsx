import type { PersonalToken } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { TokenRow } from './token-row.tsx'
import { rereadTokens, tokensQuery } from './tokens.ts'

/** The user's own tokens of this workspace, under Account. */
export function PersonalTokensSection() {
  const { workspace } = useMe()
  const tokens = useQuery(tokensQuery)
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<PersonalToken | null>(null)
  return (
    <Section
      title="Personal tokens"
      hint={
        <>
          For scripts that act as you in <bdi>{workspace?.name}</bdi>.
        </>
      }
      actions={
        <Button size="sm" icon={Plus} onClick={() => setCreating(true)}>
          New token
        </Button>
      }
    >
      <Loaded query={tokens} rows={2}>
        {(tokens) =>
          tokens.length === 0 ? (
            <p className="text-ink-3">None.</p>
          ) : (
            <Rows label="Personal tokens">
              {tokens.map((token) => (
                <TokenRow key={token.id} token={token} onRevoke={() => setRevoking(token)} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {creating && <NewTokenDialog onClose={() => setCreating(false)} />}
      <Confirm
        open={revoking !== null}
        onClose={() => setRevoking(null)}
        title={`Revoke ${isolated(revoking?.name)}?`}
        action="Revoke"
        onConfirm={async () => {
          if (revoking) await api.deletePersonalToken({ token_id: revoking.id })
          await rereadTokens()
        }}
      >
        <p>Programs that use it stop working at once. This cannot be undone.</p>
      </Confirm>
    </Section>
  )
}

import type { MemberToken } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { TokenRow } from './token-row.tsx'
import { rereadTokens, workspaceTokensQuery } from './tokens.ts'

/** The tokens of all members, for managers. */
export function WorkspaceTokensSection() {
  const tokens = useQuery(workspaceTokensQuery)
  const [revoking, setRevoking] = useState<MemberToken | null>(null)
  return (
    <Section title="Personal tokens of members" hint="Scripts that act as a member in this workspace.">
      <Loaded query={tokens} rows={2}>
        {(tokens) =>
          tokens.length === 0 ? (
            <p className="text-ink-3">None.</p>
          ) : (
            <Rows label="Personal tokens of members">
              {tokens.map((token) => (
                <TokenRow
                  key={token.id}
                  token={token}
                  owner={<bdi>{token.user.name}</bdi>}
                  onRevoke={() => setRevoking(token)}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Confirm
        open={revoking !== null}
        onClose={() => setRevoking(null)}
        title={`Revoke ${isolated(revoking?.name)} of ${isolated(revoking?.user.name)}?`}
        action="Revoke"
        onConfirm={async () => {
          if (revoking) await api.deleteTokenOfWorkspace({ token_id: revoking.id })
          await rereadTokens()
        }}
      >
        <p>Programs that use it stop working at once. This cannot be undone.</p>
      </Confirm>
    </Section>
  )
}

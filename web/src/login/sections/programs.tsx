import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries, readAll } from '../../data/api.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Time } from '../../ui/time.tsx'

/** Programs that act as the user. */
export function ProgramsSection() {
  const programs = useQuery({
    queryKey: ['programs'],
    queryFn: () => readAll('listPrograms'),
  })
  const [disconnecting, setDisconnecting] = useState<{ id: string; name: string } | null>(null)
  return (
    <Section title="Connected programs" hint="Programs that act as you, such as MCP clients.">
      <Loaded query={programs} rows={2}>
        {(programs) =>
          programs.length === 0 ? (
            <p className="text-ink-3">
              None. To connect an MCP client, use the URL{' '}
              <code className="font-mono text-xs">{location.origin}/mcp</code>.
            </p>
          ) : (
            <Rows label="Connected programs">
              {programs.map(({ id, client_name, workspace, scopes, created_at, last_used_at }) => (
                <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
                  <div className="min-w-0 flex-1">
                    <p className="truncate font-medium">
                      <bdi>{client_name}</bdi>
                    </p>
                    <p className="text-xs text-ink-2">
                      <bdi>{workspace.name}</bdi> · {scopes.join(', ')} · connected <Time at={created_at} />
                      {last_used_at ? (
                        <>
                          , last used <Time at={last_used_at} />
                        </>
                      ) : (
                        ', never used'
                      )}
                    </p>
                  </div>
                  <Button size="sm" onClick={() => setDisconnecting({ id, name: client_name })}>
                    Disconnect
                  </Button>
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Confirm
        open={disconnecting !== null}
        onClose={() => setDisconnecting(null)}
        title={`Disconnect ${isolated(disconnecting?.name)}?`}
        action="Disconnect"
        onConfirm={async () => {
          if (disconnecting) await api.endProgram({ program_id: disconnecting.id })
          await queries.invalidateQueries({ queryKey: ['programs'] })
        }}
      >
        <p>Its tokens stop working at once. You can connect it again later.</p>
      </Confirm>
    </Section>
  )
}

import type { AgentApp } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { Checkbox } from '../ui/field.tsx'

type Scopes = AgentApp['requested_scopes']

/** Checkboxes for the scopes that an app requests. `without` is shown while none is selected. */
export const ScopeChoice = ({
  requested,
  value,
  onChange,
  without = 'Without scopes, the app gets read.',
}: {
  requested: Scopes
  value: Scopes
  onChange: (scopes: Scopes) => void
  without?: string
}) => (
  <fieldset className="space-y-1.5">
    <legend className="mb-1 font-medium">Scopes</legend>
    {requested.map((scope) => (
      <Checkbox
        key={scope}
        label={
          <>
            {scopeWords[scope].short} <span className="font-mono text-xs text-ink-3">{scope}</span>
          </>
        }
        checked={value.includes(scope)}
        onChange={({ target }) =>
          onChange(requested.filter((other) => (other === scope ? target.checked : value.includes(other))))
        }
      />
    ))}
    {value.length === 0 && <p className="text-xs text-ink-2">{without}</p>}
  </fieldset>
)

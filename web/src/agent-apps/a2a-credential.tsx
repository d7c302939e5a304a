import type { A2aCredential } from '@baton/protocol'
import { Choices, Field, Input } from '../ui/field.tsx'
import { sentence } from '../ui/sentence.ts'

export interface CredentialDraft {
  type: 'none' | 'bearer' | 'api_key'
  header: string
  secret: string
}

export const noCredential: CredentialDraft = { type: 'none', header: 'X-API-Key', secret: '' }

/** Undefined while something is missing. */
export function credentialOf({ type, header, secret }: CredentialDraft): A2aCredential | undefined {
  if (type === 'none') return null
  if (secret === '') return undefined
  if (type === 'bearer') return { type, token: secret }
  return header === '' ? undefined : { type, header, value: secret }
}

/** What is missing; null if the credential can be sent. */
export const missingCredential = (draft: CredentialDraft): string | null =>
  credentialOf(draft) !== undefined
    ? null
    : draft.secret === ''
      ? `Enter the ${draft.type === 'bearer' ? 'token' : 'key'}.`
      : 'Enter the header.'

/** How Baton authenticates with the agent. A stored secret is never shown again. */
export function CredentialFields({
  value,
  onChange,
  errors,
}: {
  value: CredentialDraft
  onChange: (value: CredentialDraft) => void
  errors: Record<string, string>
}) {
  const secretError = errors['credential.token'] ?? errors['credential.value'] ?? errors.credential
  return (
    <div className="space-y-3">
      <Choices
        label="Credential"
        name="credential"
        value={value.type}
        onChange={(type) => onChange({ ...value, type })}
        choices={[
          { value: 'none', label: 'None', hint: 'The agent accepts requests without one' },
          { value: 'bearer', label: 'Bearer token', hint: 'Sent in the Authorization header' },
          { value: 'api_key', label: 'API key', hint: 'Sent in a header that you name' },
        ]}
      />
      {value.type === 'api_key' && (
        <Field label="Header" error={sentence(errors['credential.header'])}>
          <Input value={value.header} onChange={({ target }) => onChange({ ...value, header: target.value.trim() })} />
        </Field>
      )}
      {value.type !== 'none' && (
        <Field
          label={value.type === 'bearer' ? 'Token' : 'Key'}
          hint="Stored encrypted and never shown again."
          error={sentence(secretError)}
        >
          <Input
            type="password"
            autoComplete="off"
            value={value.secret}
            onChange={({ target }) => onChange({ ...value, secret: target.value.trim() })}
          />
        </Field>
      )}
    </div>
  )
}

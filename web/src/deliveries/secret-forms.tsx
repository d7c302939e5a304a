import { Copyable } from '../ui/copy.tsx'
import { standardSecret } from './standard-secret.ts'

/** A webhook secret, and the form that libraries of Standard Webhooks take. */
export const SecretForms = ({ secret }: { secret: string }) => (
  <dl className="space-y-2">
    <dt className="sr-only">Secret</dt>
    <dd>
      <Copyable text={secret} label="webhook secret" />
    </dd>
    <dt className="text-xs text-ink-3">For libraries of Standard Webhooks</dt>
    <dd>
      <Copyable text={standardSecret(secret)} label="standard webhook secret" />
    </dd>
  </dl>
)

import type { AgentApp } from '@baton/protocol'
import { ExternalLink, RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMe } from '../data/me.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Block, Copyable } from '../ui/copy.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { ScopeChoice } from './scope-choice.tsx'

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** PKCE S256: the link contains only this hash of the verifier. */
async function challengeOf(verifier: string) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url(new Uint8Array(digest))
}

/** Builds the authorization URL that opens the consent page. */
export function InstallLink({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const [scopes, setScopes] = useState(app.requested_scopes)
  const [redirectUri, setRedirectUri] = useState(app.redirect_uris[0] ?? '')
  const [state, setState] = useState(random)
  const [verifier, setVerifier] = useState(random)
  const [challenge, setChallenge] = useState('')
  useEffect(() => {
    let current = true
    void challengeOf(verifier).then((computed) => current && setChallenge(computed))
    return () => {
      current = false
    }
  }, [verifier])
  const link = `${location.origin}/api/v1/oauth/authorize?${new URLSearchParams({
    actor: 'app',
    client_id: app.client_id,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })}`
  return (
    <div className="space-y-4">
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <ScopeChoice requested={app.requested_scopes} value={scopes} onChange={setScopes} />
        <div className="space-y-3">
          <Field label="Redirect URI">
            <Select value={redirectUri} onChange={({ target }) => setRedirectUri(target.value)}>
              {app.redirect_uris.map((uri) => (
                <option key={uri}>{uri}</option>
              ))}
            </Select>
          </Field>
          <Field label="State" hint="Returned with the code; the app rejects a state that it did not issue.">
            <Input value={state} onChange={({ target }) => setState(target.value)} className="font-mono text-xs" />
          </Field>
        </div>
      </div>
      <Block label="install link" text={link} />
      <div className="space-y-2">
        <p className="font-medium">Code verifier</p>
        <Copyable text={verifier} label="code verifier" />
        <p className="text-xs text-ink-2">
          PKCE is required: the link contains a hash of this verifier, and exchanging the code within 60 seconds needs
          the verifier and the client secret. A link from here is for testing; in production the app creates state and
          verifier for each installation.
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        {isManager && (
          <a href={link} className={buttonClass('primary')}>
            <ExternalLink size={14} aria-hidden />
            Install with this link
          </a>
        )}
        <Button
          icon={RefreshCw}
          onClick={() => {
            setState(random())
            setVerifier(random())
          }}
        >
          New state and verifier
        </Button>
      </div>
    </div>
  )
}

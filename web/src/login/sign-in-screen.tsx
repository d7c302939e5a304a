import type { Instance } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage, inlineLink } from './centered-page.tsx'
import { afterSignIn, invitationIn, useInvitation } from './invitation.ts'
import { Or, OtherWays } from './other-ways.tsx'
import { hasSignedOut } from './signed-out.ts'
import { mayRedirect, openProvider, ssoProblem } from './sso.ts'

const noSso: Instance['sso'] = { only: false, providers: [] }

export function SignInScreen() {
  const { next, problem, local } = useSearch({ from: '/sign-in' })
  const invitation = invitationIn(next)
  const invited = useInvitation(invitation?.token).data
  const instance = useQuery(instanceQuery)
  const { demo, needs_first_account, sign_up, passkeys = false, sso = noSso } = instance.data ?? {}
  const [typed, setEmail] = useState<string | null>(null)
  const email = typed ?? (invitation?.email || invited?.email || '')
  const [password, setPassword] = useState('')
  // A full page load, so that no data of the previous user stays in memory.
  const signIn = async (login: { email: string; password: string }) => {
    await api.signIn(login)
    location.assign(afterSignIn(next))
  }
  const form = useForm(() => signIn({ email, password }), ['email', 'password'])
  const demoForm = useForm(async () => demo && signIn(demo))
  const [provider] = sso.providers
  const redirects = sso.only && sso.providers.length === 1 && !local && !problem
  useEffect(() => {
    if (!redirects || !provider || !mayRedirect()) return
    // If the provider cannot be reached, its button shows why.
    openProvider(provider.id, { next: afterSignIn(next) }).catch(() => {})
  }, [redirects, provider, next])
  // Without knowing the providers, the form with the password would be shown for a moment.
  if (instance.isLoading) return null
  const hasPassword = !sso.only || local
  const hasOthers = sso.providers.length > 0 || passkeys
  if (needs_first_account && !problem) return <Navigate to="/sign-up" search={{ next }} hash replace />
  return (
    <CenteredPage
      title="Sign in"
      hint={
        invitation
          ? `You have been invited to ${invited ? isolated(invited.workspace.name) : 'a workspace'}. Sign in to join.`
          : 'A work tracker whose teammates include agents.'
      }
      footer={
        (sign_up || (invitation && !sso.only)) && (
          <div className="flex items-center justify-between gap-3">
            New to Baton?
            <Link to="/sign-up" search={{ next }} hash className={buttonClass()}>
              Create an account
            </Link>
          </div>
        )
      }
    >
      {demo && (
        <div className="mb-6 rounded-lg border border-agent/40 bg-agent-wash p-4">
          <p className="font-semibold text-agent-ink">This is a demo</p>
          <p className="mb-3 text-ink-2">A sample company with issues, projects and people.</p>
          <Button look="primary" className="w-full" busy={demoForm.busy} onClick={() => void demoForm.submit()}>
            Enter the demo
          </Button>
          {demoForm.problem && (
            <p role="alert" className="mt-2 text-bad-ink">
              {demoForm.problem}
            </p>
          )}
        </div>
      )}
      {problem && (
        <div className="mb-4">
          <Notice tone="bad">{ssoProblem(problem)}</Notice>
        </div>
      )}
      {hasOthers && <OtherWays providers={sso.providers} passkeys={passkeys} next={() => afterSignIn(next)} />}
      {hasOthers && hasPassword && <Or />}
      {hasPassword && (
        <form onSubmit={form.submit} className="space-y-4">
          <Field label="E-mail" error={form.errors.email}>
            <Input
              type="email"
              autoComplete="username"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          </Field>
          <Field label="Password" error={form.errors.password}>
            <Input
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </Field>
          {form.problem && <Notice tone="bad">{form.problem}</Notice>}
          <p className="text-right">
            <Link to="/forgot-password" className={inlineLink}>
              Forgot password?
            </Link>
          </p>
          <Button type="submit" look={demo ? 'plain' : 'primary'} className="w-full" busy={form.busy}>
            Sign in
          </Button>
        </form>
      )}
      {hasSignedOut() && <ProviderSignOut providers={sso.providers} />}
    </CenteredPage>
  )
}

/** Signing out here does not sign out at the provider. */
const ProviderSignOut = ({ providers }: { providers: Instance['sso']['providers'] }) =>
  providers.map(
    ({ id, name, sign_out_url }) =>
      sign_out_url && (
        <p key={id} className="mt-4 text-center text-ink-2">
          <a href={sign_out_url} className={inlineLink}>
            Sign out of {isolated(name)} too
          </a>
        </p>
      ),
  )

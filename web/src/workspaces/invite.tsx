import type { Invitation, Member } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { invitationsQuery, membersQuery, useTeams } from '../data/workspaces.ts'
import { invitationLink } from '../login/invitation.ts'
import { Button } from '../ui/button.tsx'
import { Copyable, CopyTextButton } from '../ui/copy.tsx'
import { dayOf } from '../ui/day.ts'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Checkbox, Field, Select, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { messageOf } from '../ui/problem.ts'
import { Notice } from '../ui/states.tsx'
import { addressesIn, isAddress } from './addresses.ts'

type Role = 'owner' | 'admin' | 'member'

/** What became of one address: its link, or why it has none. */
interface Outcome {
  email: string
  link?: string
  /** Whether the service mails the person a link. */
  isMailed?: boolean
  problem?: string
}

/** Creates invitations. Without mail, the user must send their links. */
export function Invite({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [text, setText] = useState('')
  const [outcomes, setOutcomes] = useState<Outcome[]>([])
  const close = () => {
    setText('')
    setOutcomes([])
    onClose()
  }
  const again = (emails: string[]) => {
    setText(emails.join('\n'))
    setOutcomes([])
  }
  return outcomes.length > 0 ? (
    <Links open={open} onClose={close} outcomes={outcomes} onAgain={again} />
  ) : (
    <InviteForm open={open} onClose={close} text={text} onText={setText} onDone={setOutcomes} />
  )
}

interface FormProps {
  open: boolean
  onClose: () => void
  text: string
  onText: (text: string) => void
  onDone: (outcomes: Outcome[]) => void
}

function InviteForm({ open, onClose, text, onText, onDone }: FormProps) {
  const { role: mine } = useMe()
  const teams = useTeams()
  const members = useQuery(membersQuery).data ?? []
  const invitations = useQuery(invitationsQuery).data ?? []
  const [role, setRole] = useState<Role>('member')
  const [teamIds, setTeamIds] = useState<string[]>([])
  const [problems, setProblems] = useState<Outcome[]>([])
  const [sent, setSent] = useState(0)
  const addresses = addressesIn(text)
  const form = useForm(async () => {
    // Separators alone contain no address.
    const entered = addresses.length > 0 ? addresses : [text.trim()]
    const problems = entered.flatMap((email) => problemOf(email, members, invitations))
    setProblems(problems)
    if (problems.length > 0) return
    const outcomes: Outcome[] = []
    for (const email of addresses) {
      setSent(outcomes.length)
      outcomes.push(await invite(email, role, teamIds))
    }
    setSent(0)
    onDone(outcomes)
    await queries.invalidateQueries({ queryKey: ['workspace', 'invitations'] })
  })
  const removeProblems = () => {
    onText(addresses.filter((address) => !problems.some(({ email }) => email === address)).join('\n'))
    setProblems([])
  }
  return (
    <Dialog open={open} onClose={onClose} title="Invite people" size="sm">
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <Field
          label="E-mail addresses"
          hint="Separate several with commas, spaces or new lines."
          error={problems.map(({ email, problem }) => `${email}: ${problem}`).join('\n') || undefined}
        >
          <Textarea
            required
            autoFocus
            spellCheck={false}
            className="max-h-40"
            value={text}
            onChange={(event) => onText(event.target.value)}
          />
        </Field>
        {problems.length > 0 && addresses.length > problems.length && (
          <Button size="sm" onClick={removeProblems}>
            {problems.length === 1 ? 'Remove this address' : `Remove these ${problems.length} addresses`}
          </Button>
        )}
        <Field label="Role" hint="Admins install agents and manage webhooks, teams and members.">
          <Select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            <option value="member">Member</option>
            <option value="admin">Admin</option>
            {mine === 'owner' && <option value="owner">Owner</option>}
          </Select>
        </Field>
        {teams.length > 0 && (
          <fieldset>
            <legend className="mb-1 font-medium">
              Teams <span className="text-xs font-normal text-ink-3">optional</span>
            </legend>
            <div className="grid max-h-36 grid-cols-1 gap-1.5 overflow-y-auto rounded border bg-surface p-2.5 sm:grid-cols-2">
              {teams.map(({ id, name }) => (
                <Checkbox
                  key={id}
                  label={<bdi>{name}</bdi>}
                  checked={teamIds.includes(id)}
                  disabled={!teamIds.includes(id) && teamIds.length >= limits.teamsPerInvitation}
                  onChange={({ target }) =>
                    setTeamIds(target.checked ? [...teamIds, id] : teamIds.filter((other) => other !== id))
                  }
                />
              ))}
            </div>
          </fieldset>
        )}
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex items-center justify-end gap-2">
          <p role="status" className="mr-auto text-xs text-ink-2">
            {form.busy && addresses.length > 1 && `Inviting ${sent + 1} of ${addresses.length}…`}
          </p>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            {addresses.length > 1 ? `Create ${addresses.length} invitations` : 'Create invitation'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Why an address cannot be invited, if so. A second invitation would leave the first link valid. */
function problemOf(email: string, members: readonly Member[], invitations: readonly Invitation[]): Outcome[] {
  const isSame = (other: { email?: string | null | undefined }) => other.email?.toLowerCase() === email.toLowerCase()
  if (!isAddress(email)) return [{ email, problem: 'not an e-mail address' }]
  if (members.some(isSame)) return [{ email, problem: 'already a member' }]
  const pending = invitations.find(isSame)
  if (!pending) return []
  const until = dayOf(pending.expires_at)
  return [{ email, problem: `already invited until ${until}. For a new link, revoke that invitation first.` }]
}

async function invite(email: string, role: Role, teamIds: string[]): Promise<Outcome> {
  try {
    const { token, invitation } = await api.createInvitation({
      email,
      role,
      ...(teamIds.length > 0 && { team_ids: teamIds }),
    })
    return { email, link: invitationLink({ token, email }), isMailed: invitation.mail !== 'none' }
  } catch (error) {
    return { email, problem: messageOf(error) }
  }
}

interface LinksProps {
  open: boolean
  onClose: () => void
  outcomes: Outcome[]
  onAgain: (emails: string[]) => void
}

function Links({ open, onClose, outcomes, onAgain }: LinksProps) {
  const made = outcomes.filter(({ link }) => link)
  const failed = outcomes.filter(({ problem }) => problem)
  const [first] = made
  const [leaving, setLeaving] = useState<{ then: () => void } | null>(null)
  const isMailed = made.every(({ isMailed }) => isMailed)
  /** Asks first if links would be lost. */
  const leave = (then: () => void) => (made.length > 0 && !isMailed ? setLeaving({ then }) : then())
  const isOne = made.length === 1
  return (
    <Dialog
      open={open}
      onClose={() => leave(onClose)}
      title={
        made.length === 0
          ? 'No invitation was created'
          : isMailed
            ? isOne
              ? `Invitation mailed to ${first?.email}`
              : `${made.length} invitations mailed`
            : isOne
              ? `Send this link to ${first?.email}`
              : 'Send these links'
      }
      description={
        made.length > 0 &&
        (isMailed
          ? `To invite ${isOne ? 'this person' : 'people'} in another way, copy the link. It works once, expires in ${limits.invitationLifetimeDays} days and is shown only now.`
          : `${isOne ? 'Works' : 'One for each person. Each works'} once and expires in ${limits.invitationLifetimeDays} days. Shown only now.`)
      }
      size={isOne ? 'sm' : 'md'}
      footer={
        <>
          {made.length > 1 && (
            <CopyTextButton text={made.map(({ email, link }) => `${email}\t${link}`).join('\n')}>
              Copy all
            </CopyTextButton>
          )}
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        {isOne && first?.link ? (
          <Copyable text={first.link} label="link" autoFocus />
        ) : (
          <ul aria-label="Links" className="space-y-2">
            {made.map(({ email, link = '' }, index) => (
              <li
                key={email}
                className="grid grid-cols-1 items-center gap-x-3 gap-y-1 sm:grid-cols-[14rem_minmax(0,1fr)]"
              >
                <span className="truncate">{email}</span>
                <Copyable text={link} label={`link for ${email}`} autoFocus={index === 0} />
              </li>
            ))}
          </ul>
        )}
        {failed.length > 0 && (
          <Notice
            tone="bad"
            title={failed.length === 1 ? '1 address was not invited' : `${failed.length} addresses were not invited`}
            actions={
              <Button size="sm" onClick={() => leave(() => onAgain(failed.map(({ email }) => email)))}>
                Try again
              </Button>
            }
          >
            <ul>
              {failed.map(({ email, problem }) => (
                <li key={email}>
                  {email}: {problem}
                </li>
              ))}
            </ul>
          </Notice>
        )}
      </div>
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={isOne ? 'Close without the link?' : 'Close without the links?'}
        action="Close"
        onConfirm={async () => leaving?.then()}
      >
        <p>
          {isOne ? 'It is' : 'They are'} shown only now. If you did not copy {isOne ? 'it' : 'them'}, revoke the{' '}
          {isOne ? 'invitation and create a new one' : 'invitations and create new ones'}.
        </p>
      </Confirm>
    </Dialog>
  )
}

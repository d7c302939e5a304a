import type { MailStatus } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { DocsLink } from '../ui/docs-link.tsx'
import { useForm } from '../ui/form.ts'
import { Card, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill, type Tone } from '../ui/pill.tsx'
import { Notice } from '../ui/states.tsx'

const statusQuery = queryOptions({
  queryKey: ['mail status'],
  queryFn: () => api.getMailStatus(),
  refetchInterval: ({ state: { data } }) => (data && (data.queued > 0 || data.state === 'paused') ? 2000 : 30_000),
})

const states: Record<MailStatus['state'], { label: string; tone: Tone }> = {
  off: { label: 'Off', tone: 'neutral' },
  ok: { label: 'Working', tone: 'ok' },
  paused: { label: 'Paused', tone: 'warn' },
}

/** Whether the instance can send mail, with a test. For managers. */
export function MailStatusSection() {
  const status = useQuery(statusQuery)
  return (
    <Section title="Mail" hint="Invitations, account links and notifications. The operator configures the mail server.">
      <Loaded query={status}>{(status) => <Status status={status} />}</Loaded>
    </Section>
  )
}

function Status({ status: { state, reason, queued, failed_24h: failed } }: { status: MailStatus }) {
  const { user } = useMe()
  const [failedBefore, setFailedBefore] = useState<number | null>(null)
  const test = useForm(async () => {
    setFailedBefore(null)
    await api.sendTestMail()
    setFailedBefore(failed)
    await queries.invalidateQueries({ queryKey: statusQuery.queryKey })
  })
  if (state === 'off') {
    return (
      <Notice>
        This instance sends no mail. Invitations give you a link to send yourself.{' '}
        <DocsLink page="mail">How to set up mail</DocsLink>
      </Notice>
    )
  }
  return (
    <>
      <Card className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
        <Pill tone={states[state].tone} dot="still">
          {states[state].label}
        </Pill>
        <p className="min-w-48 flex-1 text-ink-2">
          {queued === 0
            ? 'No mail is waiting'
            : queued === 1
              ? '1 mail is waiting'
              : `${count(queued)} mails are waiting`}
          {failed > 0 && `, ${count(failed)} failed in the last 24 hours`}.
        </p>
        <Button size="sm" busy={test.busy} onClick={() => void test.submit()}>
          Send test mail
        </Button>
      </Card>
      {reason && (
        <Notice tone="warn" title="The mail server cannot be used">
          {reason} Baton tries again by itself; no mail is lost.
        </Notice>
      )}
      {test.problem && <Notice tone="bad">{test.problem}</Notice>}
      {failedBefore !== null && failed > failedBefore && (
        <Notice tone="bad">The mail server refused a mail. The log of the service has its answer.</Notice>
      )}
      <p role="status" className="text-ink-2">
        {failedBefore !== null && failed <= failedBefore && `A test mail is on its way to ${user.email}.`}
      </p>
    </>
  )
}

/** The API counts up to this number. */
const mostCounted = 10_000
const count = (number: number) => (number >= mostCounted ? '10,000 or more' : number.toLocaleString('en'))

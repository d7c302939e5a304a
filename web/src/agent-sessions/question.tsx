import type { AgentActivity, AgentSession } from '@baton/protocol'
import { Check, ExternalLink, MessageCircleQuestion } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useMe } from '../data/me.ts'
import { usePeople } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { inOneLine } from '../ui/one-line.ts'
import { type Command, useCommands } from '../ui/shortcuts.ts'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { bodyOf, type Choice, choicesOf, connectionOf, labelOf } from './conversation.ts'
import { mayTakeFocus, useShortcutTarget } from './focus.ts'
import { useSend } from './send.ts'

/** A question of the agent and its answer. */
export function Question(props: { question: AgentActivity; answer: AgentActivity | null; open: boolean }) {
  const { question, answer, open } = props
  const choices = choicesOf(question)
  const chosen = answer?.signal_metadata?.selected
  return (
    <section
      aria-label="Question"
      className={cx('my-1 rounded border px-2.5 py-2', open ? 'border-accent/40 bg-accent-wash' : 'bg-surface')}
    >
      <p className="flex items-center gap-1.5 pb-0.5 text-xs">
        <MessageCircleQuestion size={14} aria-hidden className={open ? 'text-accent-ink' : 'text-ink-3'} />
        <span className={cx('font-semibold', open && 'text-accent-ink')}>
          {open ? 'Needs your answer' : 'Question'}
        </span>
        <Time at={question.created_at} className="ml-auto shrink-0 text-ink-2" />
      </p>
      <Markdown text={bodyOf(question)} />
      {answer && (
        <div className="mt-1.5 flex items-start gap-1.5 border-t pt-1.5">
          <Avatar name={answer.author.name} size={16} />
          <span className="min-w-0 flex-1 wrap-anywhere">
            {choices && Array.isArray(chosen) ? (
              <>
                <span className="text-xs text-ink-2">
                  <bdi>{answer.author.name}</bdi> chose
                </span>
                <Chosen options={choices.options} chosen={chosen} />
              </>
            ) : (
              <>
                <span className="text-xs text-ink-2">
                  <bdi>{answer.author.name}</bdi> answered
                </span>
                <Markdown text={bodyOf(answer)} />
              </>
            )}
          </span>
        </div>
      )}
    </section>
  )
}

/** The options offered, the chosen ones marked. */
const Chosen = ({ options, chosen }: { options: Choice[]; chosen: unknown[] }) => (
  <ul className="mt-1 flex flex-wrap gap-1">
    {options.map((option) => {
      const isChosen = chosen.includes(option.value)
      return (
        <li
          key={option.value}
          className={cx(
            'flex items-center gap-1 rounded-full border px-2 text-xs',
            isChosen ? 'border-line-strong bg-sunken font-medium' : 'text-ink-3',
          )}
        >
          {isChosen && <Check size={12} aria-hidden />}
          {labelOf(option)}
          {isChosen && <span className="sr-only">(chosen)</span>}
        </li>
      )
    })}
  </ul>
)

interface QuestionProps {
  session: AgentSession
  question: AgentActivity
  /** Whether the agent waits for the answer; otherwise the choice is optional. */
  waits: boolean
}

/** Ways to answer the open question other than text. */
export function AnswerOptions(props: QuestionProps) {
  const { question } = props
  const choices = choicesOf(question)
  if (choices) return <ChoicePicker key={question.id} {...props} {...choices} />
  const connection = connectionOf(question)
  return connection ? <Connect {...connection} /> : null
}

function Connect({ url, provider, userId }: NonNullable<ReturnType<typeof connectionOf>>) {
  const { user } = useMe()
  const people = usePeople()
  const other = userId && userId !== user.id ? people.get(userId) : null
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <a href={url.href} target="_blank" rel="noopener noreferrer" className={buttonClass('primary')}>
        <ExternalLink size={14} aria-hidden />
        Connect {provider ?? 'your account'}
      </a>
      <span className="min-w-0 text-xs text-ink-2">
        Opens <span className="font-medium text-ink">{url.host}</span> in a new tab.{' '}
        {other ? `For ${isolated(other.display_name)}.` : userId ? 'For you.' : 'You connect with your own account.'}
      </span>
    </div>
  )
}

interface ChoicePickerProps extends QuestionProps {
  options: Choice[]
  multiple: boolean
}

/** Single choice by click or number key; multiple choice with a Send button. */
function ChoicePicker({ session, question, waits, options, multiple }: ChoicePickerProps) {
  const { send, busy, problem } = useSend(session)
  const [chosen, setChosen] = useState<string[]>([])
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (waits && mayTakeFocus(first.current)) first.current?.focus({ preventScroll: true })
  }, [waits])
  const answer = (selected: Choice[]) =>
    void send(selected.map(labelOf).join(', '), { question, selected: selected.map(({ value }) => value) })
  const pick = (option: Choice) => {
    if (busy) return
    if (!multiple) answer([option])
    else
      setChosen((now) => (now.includes(option.value) ? now.filter((v) => v !== option.value) : [...now, option.value]))
  }
  const { hasFocus, isTarget } = useShortcutTarget('answer', session.id, true)
  const byKey = (option: Choice) => {
    if (isTarget()) pick(option)
    else showToast('Several agents are asking. Click the answer instead.')
  }
  useCommands(
    options.slice(0, 9).map(
      (option, index): Command => ({
        id: `session.answer.${question.id}.${index + 1}`,
        title: `${multiple ? 'Choose' : 'Answer'} “${labelOf(option)}”`,
        section: 'Agent session',
        keys: String(index + 1),
        hasFocus,
        run: () => byKey(option),
      }),
    ),
  )
  return (
    <fieldset className="min-w-0">
      <legend className={waits ? 'sr-only' : 'pb-1 font-medium'}>
        {waits ? (multiple ? 'Choose one or more' : 'Choose one') : inOneLine(bodyOf(question).split('\n', 1)[0] ?? '')}
      </legend>
      <div className="max-h-72 space-y-1 overflow-y-auto p-0.5">
        {options.map((option, index) => {
          const on = chosen.includes(option.value)
          return (
            <button
              key={option.value}
              ref={index === 0 ? first : undefined}
              type="button"
              {...(multiple && { role: 'checkbox', 'aria-checked': on })}
              aria-disabled={busy || undefined}
              onClick={() => pick(option)}
              className={cx(
                'flex w-full items-start gap-2 rounded border bg-surface px-2.5 py-1.5 text-left hover:bg-hover',
                on && 'border-accent bg-accent-wash',
              )}
            >
              {index < 9 ? <Kbd keys={String(index + 1)} className="mt-0.5" /> : <span className="w-4 shrink-0" />}
              <span className="min-w-0 flex-1 wrap-anywhere">
                <span className="font-medium">{labelOf(option)}</span>
                {option.description && <span className="block text-xs text-ink-2">{option.description}</span>}
              </span>
              {multiple && (
                <span
                  aria-hidden
                  className={cx(
                    'mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border',
                    on ? 'border-ink bg-ink text-on-ink' : 'border-line-strong',
                  )}
                >
                  {on && <Check size={12} />}
                </span>
              )}
            </button>
          )
        })}
      </div>
      {multiple && (
        <Button
          look="primary"
          className="mt-1.5"
          busy={busy}
          disabled={chosen.length === 0}
          onClick={() => answer(options.filter(({ value }) => chosen.includes(value)))}
        >
          {chosen.length === 0 ? 'Choose at least one' : `Send ${chosen.length} selected`}
        </Button>
      )}
      {problem && (
        <p role="alert" className="mt-1 text-xs text-bad-ink">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

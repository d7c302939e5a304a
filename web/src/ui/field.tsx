import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react'
import { cx } from './class-names.ts'

interface FieldInfo {
  id: string
  describedBy: string | undefined
  invalid: boolean
}
const FieldContext = createContext<FieldInfo | null>(null)

interface Props {
  label: ReactNode
  hint?: ReactNode
  /** Error message of one or more lines, announced to screen readers when it appears. */
  error?: string | undefined
  optional?: boolean
  children: ReactNode
  className?: string
}

/** A labelled input. Connects the Input, Textarea or Select inside with its label, hint and error. */
export function Field({ label, hint, error, optional, children, className }: Props) {
  const id = useId()
  const describedBy = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <div className={cx('space-y-1', className)}>
      <label htmlFor={id} className="flex items-baseline gap-2 font-medium">
        {label}
        {optional && <span className="text-xs font-normal text-ink-3">optional</span>}
      </label>
      <FieldContext value={{ id, describedBy, invalid: Boolean(error) }}>{children}</FieldContext>
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-xs whitespace-pre-line text-bad-ink">
          {error}
        </p>
      ) : (
        hint && (
          <p id={`${id}-hint`} className="text-xs text-ink-3">
            {hint}
          </p>
        )
      )}
    </div>
  )
}

/** Connects a control with the label, hint and error of its Field. */
export function useFieldProps() {
  const field = useContext(FieldContext)
  return field
    ? { id: field.id, 'aria-describedby': field.describedBy, 'aria-invalid': field.invalid || undefined }
    : {}
}

export const box =
  'rounded border border-line-strong bg-surface px-2.5 text-sm text-ink placeholder:text-ink-3 ' +
  'focus:border-accent focus:outline-1 focus:outline-accent aria-invalid:border-bad disabled:opacity-60'

/** Full width, unless the class sets a width. */
const width = (className = '') => !/\bw-/.test(className) && 'w-full'

export const Input = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input {...useFieldProps()} {...rest} className={cx(box, width(className), 'h-8', className)} />
)

/** Grows with its text. */
export const Textarea = ({ className, ...rest }: ComponentProps<'textarea'>) => (
  <textarea
    rows={3}
    {...useFieldProps()}
    {...rest}
    className={cx(box, width(className), 'field-sizing-content py-1.5 leading-5', className)}
  />
)

export const Select = ({ className, ...rest }: ComponentProps<'select'>) => (
  <select {...useFieldProps()} {...rest} className={cx(box, width(className), 'h-8', className)} />
)

export const Checkbox = ({
  label,
  hint,
  className,
  ...rest
}: ComponentProps<'input'> & { label: ReactNode; hint?: ReactNode }) => (
  <label className={cx('flex items-start gap-2', className)}>
    <input type="checkbox" {...rest} className="mt-0.5 size-4 shrink-0 accent-(--accent-ink)" />
    <span>
      {label}
      {hint && <span className="block text-xs text-ink-3">{hint}</span>}
    </span>
  </label>
)

interface Choice<Value extends string> {
  value: Value
  label: ReactNode
  hint?: ReactNode
}

/** Radio buttons, each with a hint. */
export function Choices<Value extends string>(props: {
  label: string
  name: string
  /** Null if none is selected. */
  value: Value | null
  onChange: (value: Value) => void
  choices: Choice<Value>[]
}) {
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 font-medium">{props.label}</legend>
      {props.choices.map(({ value, label, hint }) => (
        <label
          key={value}
          className="flex items-start gap-2.5 rounded border bg-surface px-3 py-2 has-checked:border-accent has-checked:bg-accent-wash"
        >
          <input
            type="radio"
            name={props.name}
            checked={props.value === value}
            onChange={() => props.onChange(value)}
            className="mt-0.5 size-4 shrink-0 accent-(--accent-ink)"
          />
          <span>
            <span className="font-medium">{label}</span>
            {hint && <span className="block text-xs text-ink-2">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

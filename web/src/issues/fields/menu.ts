import { noDay } from '../../ui/day.ts'
import { none, type Option, type Question } from '../../ui/picker.tsx'
import { showError } from '../../ui/toast.tsx'
import type { Directory } from './directory.ts'
import { doneText, type Field, menuOptions } from './field.tsx'

interface Menu<Subject, Change> {
  title: string
  /** "ENG-4" or "3 issues". */
  name: string
  /** The subjects as they are when a value is picked: a menu with several values stays open. */
  latest: () => readonly Subject[]
  apply: (change: (subject: Subject) => Change, done: string) => unknown
}

/** The menu that changes one field of one or several subjects. */
export function fieldMenu<S, C>(
  field: Field<S, C>,
  subjects: readonly S[],
  directory: Directory,
  { title, name, latest, apply }: Menu<S, C>,
): Question {
  const { remove } = field
  const one = subjects.length === 1 ? subjects[0] : undefined
  const valuesOf = (subject: S) => {
    const values = field.read(subject)
    return values.length > 0 || remove ? values : [none]
  }
  const allHave = (value: string, all = subjects) => all.every((subject) => valuesOf(subject).includes(value))
  const pick = async (option: Option) => {
    try {
      const { value, label } = field.resolve ? await field.resolve(option) : option
      const present = allHave(value, latest())
      if (!present) await apply((subject) => field.change(subject, value), doneText(field, name, value, label))
      else if (remove) await apply((subject) => remove(subject, value), `${name}: ${label} removed`)
    } catch (error) {
      showError(error)
    }
  }
  return {
    title,
    options: menuOptions(field, directory, one),
    selected: subjects
      .slice(0, 1)
      .flatMap(valuesOf)
      .filter((value) => allHave(value)),
    ...(remove && { multiple: true }),
    ...(field.calendar && { calendar: true, empty: noDay }),
    ...(field.noMatch && { empty: field.noMatch }),
    ...(one !== undefined && field.footer && { footer: field.footer(one) }),
    onPick: (_, option) => void pick(option),
  }
}

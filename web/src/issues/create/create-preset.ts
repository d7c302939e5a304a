import { useEffect } from 'react'
import { none } from '../../ui/picker.tsx'
import type { Directory } from '../fields/directory.ts'
import { optionOf } from '../fields/field.tsx'
import { filterFields, idFromUrl } from '../fields/fields.tsx'
import { type IssueSearch, isNegated, valuesOf } from '../fields/search.ts'
import { blankDraft, type Draft } from './draft.ts'

export type Preset = Partial<Draft>

/** The values a new issue starts with: those of the screen's filters that have exactly one value. */
export function presetFor(search: IssueSearch, directory: Directory): Preset {
  const preset: Preset = {}
  for (const field of filterFields) {
    const { key, change } = field
    if (!key || !change || isNegated(search, field.id)) continue
    const values = valuesOf(search, field.id).filter((value) => value !== none)
    const [id] = values.map((value) => idFromUrl(field, value, directory))
    if (id === undefined || values.length > 1 || !optionOf(field, id, directory)) continue
    Object.assign(preset, { [key]: change(blankDraft, id)[key] })
  }
  return preset
}

let preset: Preset = {}
export const currentPreset = () => preset

/** While the screen is mounted, new issues start with its preset. */
export function usePreset(search: IssueSearch, directory: Directory) {
  useEffect(() => {
    preset = presetFor(search, directory)
    return () => {
      preset = {}
    }
  }, [search, directory])
}

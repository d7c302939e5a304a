import type { ComponentProps } from 'react'
import { useFieldProps } from './field.tsx'

export const FileInput = ({
  onChoose,
  ...rest
}: Pick<ComponentProps<'input'>, 'accept' | 'multiple' | 'required'> & { onChoose: (files: File[]) => void }) => (
  <input
    {...useFieldProps()}
    {...rest}
    type="file"
    className="block w-full text-sm file:mr-3 file:rounded file:border file:border-solid file:border-line-strong file:bg-surface file:text-ink file:px-3 file:py-1.5"
    onChange={({ target }) => onChoose([...(target.files ?? [])])}
  />
)

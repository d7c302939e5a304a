import { queryOptions } from '@tanstack/react-query'
import { readAll } from './api.ts'

/** Templates of all teams and of the workspace, by name. */
export const templatesQuery = queryOptions({
  queryKey: ['workspace', 'templates'],
  queryFn: async () => {
    const templates = await readAll('listTemplates')
    return templates.sort((a, b) => a.name.localeCompare(b.name))
  },
})

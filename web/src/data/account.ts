import { queryOptions } from '@tanstack/react-query'
import { api, queries } from './api.ts'

/** The account of the signed-in user: address, sign-in methods, time zone. */
export const accountQuery = queryOptions({ queryKey: ['account'], queryFn: () => api.getAccount() })

export const rereadAccount = () => queries.invalidateQueries({ queryKey: accountQuery.queryKey })

import { createContext, useContext } from 'react'

interface Person {
  display_name: string
  user_kind: 'human' | 'application'
}

const PeopleContext = createContext<ReadonlyMap<string, Person>>(new Map())

/** Provides the people and agents that mentions in Markdown are resolved against, by id. */
export const MarkdownPeople = PeopleContext.Provider

export const useMarkdownPeople = () => useContext(PeopleContext)

import type { Project } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { useState } from 'react'
import { SessionCard } from '../agent-sessions/session-card.tsx'
import { Comments } from '../comments/comments.tsx'
import { buttonClass } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { PropertyChips, PropertyRows, usePropertyKeys } from '../ui/property-list.tsx'
import { Empty, Failed } from '../ui/states.tsx'
import { DescriptionInPlace, TitleInPlace } from '../ui/text-in-place.tsx'
import { Time } from '../ui/time.tsx'
import { editProject, useProject } from './edit.ts'
import { ProjectHeader } from './project-header.tsx'
import { ProjectIssues } from './project-issues.tsx'
import { useProjectProperties } from './properties.tsx'
import { projectSessionsQuery } from './queries.ts'
import { useVisibility } from './visibility.tsx'

export function ProjectScreen() {
  const { projectId } = useParams({ from: '/person/inside/project/$projectId' })
  return <Looked key={projectId} id={projectId} />
}

function Looked({ id }: { id: string }) {
  const { data, error, refetch } = useProject(id)
  const [wasHere, setWasHere] = useState(false)
  if (data && !wasHere) setWasHere(true)
  if (data) return <Shown project={data} />
  if (data === null) return <Missing wasHere={wasHere} />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  return <Waiting />
}

function Shown({ project }: { project: Project }) {
  const visibility = useVisibility(project)
  const properties = useProjectProperties(project, visibility.ask)
  const ref = usePropertyKeys('Project', properties)
  const { id } = project
  return (
    <div ref={ref} className="@container flex h-full min-w-0 flex-col">
      <ProjectHeader project={project} />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid min-h-full max-w-[1160px] @4xl:grid-cols-[minmax(0,1fr)_296px]">
          <div className="min-w-0 space-y-4 px-4 pt-4 pb-16 @xl:px-6 @4xl:px-10 @4xl:pt-6">
            <div className="space-y-3">
              <TitleInPlace
                of="Project"
                text={project.title}
                onSave={(title) => editProject(id, { title }, 'Renamed.')}
              />
              <div className="@4xl:hidden">
                <PropertyChips of="Project" properties={properties} />
              </div>
            </div>
            <DescriptionInPlace
              of="Project"
              id={id}
              text={project.description}
              onSave={(description) => editProject(id, { description }, 'Description saved.')}
            />
            <ProjectIssues project={project} />
            <Feed id={id} />
          </div>
          <aside aria-label="Properties" className="hidden border-l px-4 pt-6 @4xl:block">
            <div className="sticky top-6">
              <PropertyRows of="Project" properties={properties} />
              <p className="mt-4 border-t pt-3 text-xs text-ink-3">
                Created {dayOf(project.created_at)}
                {project.completed_at && ` · completed ${dayOf(project.completed_at)}`}
                {' · changed '}
                <Time at={project.updated_at} />
              </p>
            </div>
          </aside>
        </div>
      </div>
      {visibility.dialog}
    </div>
  )
}

/** What was said and done by agents, in order of time. */
function Feed({ id }: { id: string }) {
  const { data: sessions = [] } = useQuery(projectSessionsQuery(id))
  return (
    <section aria-label="Activity">
      <h2 className="flex h-8 items-center pb-1 text-xs font-medium text-ink-2">Activity</h2>
      <Comments
        targetType="project"
        targetId={id}
        others={sessions.map((session) => ({
          at: session.created_at,
          key: session.id,
          node: <SessionCard session={session} />,
        }))}
      />
    </section>
  )
}

const Missing = ({ wasHere }: { wasHere: boolean }) => (
  <Empty
    icon={Compass}
    title={wasHere ? 'This project is gone' : 'There is no such project here'}
    action={
      <Link to="/projects" className={buttonClass('primary')}>
        Go to projects
      </Link>
    }
  >
    {wasHere
      ? 'It was deleted, or made personal by its owner.'
      : 'It may have been deleted, or be one that only its owner sees.'}
  </Empty>
)

const Waiting = () => (
  <div aria-hidden className="h-full">
    <div className="h-12 border-b" />
    <div className="mx-auto max-w-[1160px] space-y-4 px-10 pt-8">
      <div className="skeleton h-6 w-1/2" />
      <div className="skeleton h-4 w-4/5" />
      <div className="skeleton h-4 w-2/3" />
    </div>
  </div>
)

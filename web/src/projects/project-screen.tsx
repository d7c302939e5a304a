import type { Project } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { useState } from 'react'
import { SessionCard } from '../agent-sessions/session-card.tsx'
import { Comments } from '../comments/comments.tsx'
import { projectSessionsQuery } from '../data/projects.ts'
import { ProjectFiles } from '../files/item-files.tsx'
import { buttonClass } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { Detail, DetailSkeleton } from '../ui/detail.tsx'
import { PropertyChips, PropertyRows, usePropertyKeys } from '../ui/property-list.tsx'
import { Empty, Failed } from '../ui/states.tsx'
import { DescriptionInPlace, TitleInPlace } from '../ui/text-in-place.tsx'
import { Time } from '../ui/time.tsx'
import { editProject, useProject } from './edit-project.ts'
import { ProjectHeader } from './project-header.tsx'
import { ProjectIssues } from './project-issues.tsx'
import { useProjectProperties } from './properties.tsx'
import { useVisibilityDialog } from './visibility.tsx'

export function ProjectScreen() {
  const { projectId } = useParams({ from: '/person/inside/project/$projectId' })
  return <LoadedProject key={projectId} id={projectId} />
}

function LoadedProject({ id }: { id: string }) {
  const { data, error, refetch } = useProject(id)
  const [wasHere, setWasHere] = useState(false)
  if (data && !wasHere) setWasHere(true)
  if (data) return <ProjectContent project={data} />
  if (data === null) return <Missing wasHere={wasHere} />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  return <DetailSkeleton />
}

function ProjectContent({ project }: { project: Project }) {
  const visibility = useVisibilityDialog(project)
  const properties = useProjectProperties(project, visibility.confirm)
  const ref = usePropertyKeys('Project', properties)
  const { id } = project
  return (
    <>
      <Detail
        ref={ref}
        header={<ProjectHeader project={project} />}
        properties={
          <>
            <PropertyRows of="Project" properties={properties} />
            <p className="mt-4 border-t pt-3 text-xs text-ink-3">
              Created {dayOf(project.created_at)}
              {project.completed_at && ` · completed ${dayOf(project.completed_at)}`}
              {' · updated '}
              <Time at={project.updated_at} />
            </p>
          </>
        }
      >
        <TitleInPlace of="Project" text={project.title} onSave={(title) => editProject(id, { title }, 'Renamed')} />
        <div className="@4xl:hidden">
          <PropertyChips of="Project" properties={properties} />
        </div>
        <DescriptionInPlace
          of="Project"
          id={id}
          text={project.description}
          onSave={(description) => editProject(id, { description }, 'Description saved')}
        />
        <ProjectIssues project={project} />
        <ProjectFiles projectId={id} />
        <Feed id={id} isPrivate={project.personal} />
      </Detail>
      {visibility.dialog}
    </>
  )
}

/** Comments and agent sessions by time. */
function Feed({ id, isPrivate }: { id: string; isPrivate: boolean }) {
  const { data: sessions = [] } = useQuery(projectSessionsQuery(id))
  return (
    <section aria-label="Activity">
      <h2 className="flex h-8 items-center pb-1 text-xs font-medium text-ink-2">Activity</h2>
      <Comments
        targetType="project"
        targetId={id}
        isPrivate={isPrivate}
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
    title={wasHere ? 'This project is no longer available' : 'Project not found'}
    action={
      <Link to="/projects" className={buttonClass('primary')}>
        Go to projects
      </Link>
    }
  >
    {wasHere ? 'It was deleted, or its owner made it private.' : 'It may have been deleted or be private.'}
  </Empty>
)

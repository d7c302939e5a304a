import type { Team, TeamReview } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { api, queries } from '../data/api.ts'
import { teamReviewQuery } from '../data/reviews.ts'
import { Checkbox, Field, Select } from '../ui/field.tsx'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { showError, showToast } from '../ui/toast.tsx'

/** The team's setting for reviews; members read it. */
export function TeamReviewSetting({ team, isManager }: { team: Team; isManager: boolean }) {
  const query = teamReviewQuery(team.id)
  const review = useQuery(query)
  const save = async (next: TeamReview) => {
    try {
      queries.setQueryData(query.queryKey, await api.setTeamReview({ team_id: team.id, ...next }))
      showToast('Saved')
    } catch (error) {
      showError(error)
    }
  }
  return (
    <Section title="Review" hint="A person accepts what an agent answers to a delegated issue, or sends it back.">
      <Loaded query={review} rows={2}>
        {(data) => (
          <div className="space-y-3">
            <Checkbox
              label="Review the work of agents"
              checked={data.mode === 'on'}
              disabled={!isManager}
              onChange={({ target }) => void save({ ...data, mode: target.checked ? 'on' : 'off' })}
            />
            {data.mode === 'on' && (
              <Field label="Status after accepting">
                <Select
                  className="max-w-60"
                  disabled={!isManager}
                  value={data.accept_status ?? ''}
                  onChange={({ target }) =>
                    void save({ ...data, accept_status: (target.value || null) as TeamReview['accept_status'] })
                  }
                >
                  <option value="">No change</option>
                  <option value="qa">QA</option>
                  <option value="release">Release</option>
                  <option value="done">Done</option>
                </Select>
              </Field>
            )}
          </div>
        )}
      </Loaded>
    </Section>
  )
}

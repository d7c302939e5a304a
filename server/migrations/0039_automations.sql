create table automations (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  team_id       text not null,
  owner_id      text not null references users,
  name          text not null,
  preset        text,
  trigger       jsonb not null,
  filter        jsonb not null,
  actions       jsonb not null,
  agent_ids     text[] not null, -- agents in filter and actions
  state         text not null,
  paused_reason text,
  next_at       timestamptz(3), -- of a schedule that is on
  failures      integer not null default 0, -- in a row
  last_issues   jsonb not null default '{}', -- the issue that each action created last, by index; outlives runs
  version       integer not null default 1,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);
create index automations_newest on automations (workspace_id, id desc);
create index automations_team on automations (team_id, id desc);
create index automations_owner on automations (owner_id);
create index automations_agents on automations using gin (agent_ids);
create index automations_due on automations (next_at) where next_at is not null;
create unique index automations_triage on automations (team_id) where preset = 'triage';

-- One row for each cause of an automation. A pending one is written in the transaction of its cause.
create table automation_runs (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  automation_id text not null references automations on delete cascade,
  version       integer not null,
  cause         text not null, -- an event, a session and seq, an instant, or 'manual'
  issue_id      text references issues on delete set null,
  agent_id      text, -- of the session that caused it
  chain         jsonb not null default '[]', -- the automations that led to it, each with its issue
  state         text not null default 'pending',
  reason        text,
  message       text,
  actions       jsonb not null default '[]',
  attempts      integer not null default 0,
  claim_id      text,
  lease_until   timestamptz(3),
  created_at    timestamptz(3) not null,
  finished_at   timestamptz(3)
);
create unique index automation_runs_cause on automation_runs (automation_id, cause) where cause <> 'manual';
create index automation_runs_newest on automation_runs (automation_id, id desc);
create index automation_runs_state on automation_runs (automation_id, state, id desc);
create index automation_runs_pending on automation_runs (id) where state = 'pending';
-- For the limits of runs in an hour and a day.
create index automation_runs_counted on automation_runs (automation_id, finished_at)
  where state in ('done', 'failed') or reason = 'rate_limited';
create index automation_runs_in_workspace on automation_runs (workspace_id, finished_at) where state in ('done', 'failed');
create index automation_runs_old on automation_runs (finished_at) where finished_at is not null;
create index automation_runs_issue on automation_runs (issue_id) where issue_id is not null;

-- A trial looks at the newest events of issues.
create index if not exists events_of_issues on events (workspace_id, id desc) where type = 'Issue';

-- No foreign keys: the id stays when the automation is deleted, and both tables are large.
alter table comments add column automation_id text;
alter table issue_changes add column automation_id text;
-- The automations that led to the session.
alter table agent_sessions add column chain jsonb;

-- Automations and teams as subjects. `subject_id` becomes an ordinary column, because the expression of a generated one
-- cannot be changed; only the trigger writes it.
alter table inbox_entries add column automation_id text references automations on delete cascade,
  add column team_id text references teams on delete cascade;
alter table inbox_threads add column automation_id text references automations on delete cascade,
  add column team_id text references teams on delete cascade;
alter table inbox_threads alter column subject_id drop expression;
create index inbox_entries_automation on inbox_entries (automation_id) where automation_id is not null;
create index inbox_threads_automation on inbox_threads (automation_id) where automation_id is not null;
create index inbox_entries_team on inbox_entries (team_id) where team_id is not null;
create index inbox_threads_team on inbox_threads (team_id) where team_id is not null;
drop index inbox_entries_thread;
create index inbox_entries_thread on inbox_entries
  (workspace_id, user_id, (coalesce(issue_id, project_id, endpoint_id, app_id, automation_id, team_id)), id desc);
create or replace function place_inbox_thread() returns trigger language plpgsql as $$
begin
  insert into inbox_threads as t
    (workspace_id, user_id, subject_id, issue_id, project_id, endpoint_id, app_id, automation_id, team_id, moved_at, latest_id)
  values (new.workspace_id, new.user_id,
    coalesce(new.issue_id, new.project_id, new.endpoint_id, new.app_id, new.automation_id, new.team_id),
    new.issue_id, case when new.issue_id is null then new.project_id end,
    case when coalesce(new.issue_id, new.project_id) is null then new.endpoint_id end,
    case when coalesce(new.issue_id, new.project_id, new.endpoint_id) is null then new.app_id end,
    case when coalesce(new.issue_id, new.project_id, new.endpoint_id, new.app_id) is null then new.automation_id end,
    case when coalesce(new.issue_id, new.project_id, new.endpoint_id, new.app_id, new.automation_id) is null
      then new.team_id end,
    new.created_at, new.id)
  on conflict (workspace_id, user_id, subject_id) do update set
    latest_id = excluded.latest_id,
    archived_at = null,
    moved_at = case when t.snoozed_until > new.created_at
      and new.kind not in ('mention', 'assignment', 'agent_needs_you', 'review_requested')
      then t.moved_at else excluded.moved_at end,
    snoozed_until = case when t.snoozed_until > new.created_at
      and new.kind not in ('mention', 'assignment', 'agent_needs_you', 'review_requested') then t.snoozed_until end;
  return null;
end $$;
drop trigger inbox_entries_place_thread on inbox_entries;
create trigger inbox_entries_place_thread after insert on inbox_entries for each row
  when (coalesce(new.issue_id, new.project_id, new.endpoint_id, new.app_id, new.automation_id, new.team_id) is not null)
  execute function place_inbox_thread();

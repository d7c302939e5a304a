-- Figures of insights, counted by a worker (server/src/insights). Reports read these tables only.

-- How agents did, by the UTC day on which their sessions were opened.
create table agent_days (
  workspace_id   text not null references workspaces on delete cascade,
  day            date not null,
  team_id        text not null, -- '' without a team; no reference, because figures outlive their team
  agent_id       text not null, -- '' for all personal agents together, which would name their owners
  opened         int not null,
  finished       int not null,
  failed         int not null,
  stopped        int not null,
  stale          int not null,
  waiting        int not null,
  under_way      int not null,
  asked          int not null,
  first_activity int[], -- counts of 48 buckets (buckets.ts); null without a value
  answer_time    int[],
  answered_by    int[] not null, -- up to three people, as numbers that name none of them
  accepted       int not null,
  sent_back      int not null,
  input_tokens   bigint not null,
  output_tokens  bigint not null,
  costs          jsonb not null, -- by currency, in millionths
  primary key (workspace_id, day, team_id, agent_id)
);

create table flow_days (
  workspace_id text not null references workspaces on delete cascade,
  day          date not null,
  team_id      text not null, -- '' without a team
  created      int not null,
  done         int not null,
  lead_time    int[],
  cycle_time   int[],
  open         int[] not null, -- at the end of the day, by age: up to 7, 30, 90, 180 days, more
  primary key (workspace_id, day, team_id)
);

create table cycle_days (
  workspace_id text not null,
  cycle_id     text not null,
  day          date not null,
  scope        int not null, -- issues in the cycle at the end of the day
  done         int not null,
  primary key (workspace_id, cycle_id, day),
  foreign key (workspace_id, cycle_id) references cycles (workspace_id, id) on delete cascade
);

create table insight_progress (
  workspace_id  text primary key references workspaces on delete cascade,
  as_of         timestamptz(3), -- all changes before it are counted; null before the first time
  refill_at     timestamptz(3), -- an import ended then; the next time counts the issues of 366 days, as the first time does
  claim_id      text,
  claimed_until timestamptz(3)
);

create index if not exists agent_sessions_opened on agent_sessions (workspace_id, created_at, id);
create index if not exists agent_activities_turns on agent_activities (session_id, seq)
  where type in ('elicitation', 'prompt', 'response', 'error');
create index if not exists issues_not_completed on issues (workspace_id, id) where completed_at is null and not personal;
create index if not exists issues_completed on issues (workspace_id, completed_at, id)
  where completed_at is not null and not personal;
create index if not exists issue_changes_left_cycle on issue_changes ((changes -> 'cycle_id' ->> 'from'))
  where changes -> 'cycle_id' ->> 'from' is not null;
create index if not exists endpoint_days_day on endpoint_days (workspace_id, day);

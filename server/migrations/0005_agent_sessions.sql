-- Agent sessions: what an agent was asked to do, how that stands, and what was said about it.

create table agent_sessions (
  id                  text primary key,
  workspace_id        text not null references workspaces on delete cascade,
  agent_id            text not null references users,
  installation_id     text references installations on delete cascade, -- null for an agent that runs inside the service
  -- What it is about; one of the two. Not references, because a session outlives what it was about.
  issue_id            text,
  project_id          text,
  personal_of         text, -- whose personal item that was when the session was opened
  comment_id          text references comments on delete set null, -- that it began with
  thread_id           text, -- the first comment of that one's thread
  delegation_revision int,  -- of the delegation that it began with
  creator_id          text not null references users,
  opened_by_agent     boolean not null,
  created_event_id    text, -- that told the app of it
  state               text not null, -- as last written; time moves it on (state.ts)
  quiet_since         timestamptz(3) not null,
  stopping_since      timestamptz(3),
  answered_at         timestamptz(3), -- of the agent's first activity or link
  end_reason          text,
  ended_at            timestamptz(3),
  plan                json not null default '[]',
  external_urls       json not null default '[]',
  last_seq            int not null default 0,
  ephemeral_seq       int, -- the activity that the agent's next one replaces
  recent              double precision[] not null default '{}', -- when the agent spoke within the last second
  -- Grows with every write, so that a writer can tell whether somebody else has written since it read.
  version             int not null default 0,
  -- Not later than the moment at which time would change it; null when it would not. It stays where it is while the
  -- agent speaks, so that an activity changes no index.
  due_at              timestamptz(3),
  parting             json, -- issue and comment as they were when the agent lost sight of them
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,
  check (issue_id is null or project_id is null)
) with (fillfactor = 70);
-- One for each filter of the list, newest first, for an agent and for the people of a workspace.
create index agent_sessions_newest on agent_sessions (workspace_id, id desc);
create index agent_sessions_state on agent_sessions (workspace_id, state, id desc);
create index agent_sessions_agent on agent_sessions (agent_id, id desc);
create index agent_sessions_agent_state on agent_sessions (agent_id, state, id desc);
create index agent_sessions_issue on agent_sessions (issue_id, id desc) where issue_id is not null;
create index agent_sessions_project on agent_sessions (project_id, id desc) where project_id is not null;
create index agent_sessions_comment on agent_sessions (comment_id) where comment_id is not null;
create index agent_sessions_due on agent_sessions (due_at) where due_at is not null;
-- decisions 6: one open session for each agent and delegation, and for each agent and thread.
create unique index agent_sessions_delegation on agent_sessions (issue_id, agent_id, delegation_revision)
  where delegation_revision is not null;
create unique index agent_sessions_thread on agent_sessions (thread_id, agent_id)
  where thread_id is not null and ended_at is null;

-- Every activity is written by the statement that moves its session, so it needs no reference to it.
create table agent_activities (
  session_id        text not null,
  seq               int not null,
  id                text not null,
  workspace_id      text not null,
  type              text not null,
  content           json not null,
  ephemeral         boolean not null,
  superseded_by_seq int,
  signal            text,
  signal_metadata   json,
  author_kind       text not null, -- user, app
  author_id         text not null,
  idempotency_key   text,
  request_hash      bytea,
  created_at        timestamptz(3) not null,
  primary key (session_id, seq)
);
create unique index agent_activities_key on agent_activities (session_id, idempotency_key)
  where idempotency_key is not null;

-- The delivery that must have been attempted before this one may be: `created` before `prompted`.
alter table deliveries add column blocked_by text;

alter table inbox_entries add column session_id text references agent_sessions on delete cascade;
create index inbox_entries_session on inbox_entries (session_id) where session_id is not null;

-- Suggestions of agents, reviews of their work, and the team's setting for them. Only additions: the previous version
-- keeps running beside them.

create table suggestions (
  id              text primary key,
  workspace_id    text not null,
  issue_id        text not null,
  session_id      text not null references agent_sessions on delete cascade,
  agent_id        text not null references users on delete cascade,
  field           text not null,
  value           text not null, -- a priority, a type, or the id of a label, person, project or issue
  reason          text not null,
  state           text not null, -- open, accepted, declined, outdated
  decided_by      text references users on delete set null,
  decided_at      timestamptz(3),
  idempotency_key text,
  request_hash    bytea,
  created_at      timestamptz(3) not null,
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade
);
create index suggestions_issue on suggestions (issue_id, id desc);
create index suggestions_session on suggestions (session_id, idempotency_key, id);
create index suggestions_agent on suggestions (agent_id);
create index suggestions_decided_by on suggestions (decided_by) where decided_by is not null;
create index suggestions_waiting on suggestions (workspace_id, issue_id desc) where state = 'open';
-- One open suggestion of an agent for a field, or for a label.
create unique index suggestions_open on suggestions
  (issue_id, agent_id, field, (case when field = 'label' then value else '' end)) where state = 'open';

create table reviews (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  session_id   text not null references agent_sessions on delete cascade,
  issue_id     text references issues on delete set null,
  agent_id     text not null references users on delete cascade,
  reviewer_id  text references users on delete set null,
  round        integer not null,
  seq          integer not null, -- of the response
  state        text not null, -- waiting, accepted, sent_back, withdrawn
  decided_by   text references users on delete set null, -- null: withdrawn without a person
  decided_at   timestamptz(3),
  reason       text, -- why it was sent back, or the comment of who accepted it
  began_at     timestamptz(3) not null, -- of the round
  created_at   timestamptz(3) not null
);
create unique index reviews_waiting on reviews (session_id) where state = 'waiting';
create index reviews_session on reviews (session_id, id);
create index reviews_issue on reviews (issue_id, id) where issue_id is not null;
create index reviews_queue on reviews (workspace_id, state, id);
create index reviews_agent on reviews (agent_id);
create index reviews_reviewer on reviews (reviewer_id) where reviewer_id is not null;
create index reviews_decided_by on reviews (decided_by) where decided_by is not null;

alter table teams add column review jsonb not null default '{"mode": "off", "accept_status": "done"}';

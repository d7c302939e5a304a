-- Agents that are reached with the A2A protocol instead of a webhook.

alter table endpoints add column protocol text not null default 'webhook'; -- webhook, a2a
-- A message to an A2A agent that waits until the task of its session rests; nothing else sets it.
alter table deliveries add column waits boolean not null default false;

create table a2a_apps (
  app_id          text primary key references agent_apps on delete cascade,
  workspace_id    text not null references workspaces on delete cascade,
  card_url        text not null,
  card            jsonb not null, -- the parts that are shown
  interface       jsonb not null, -- url, binding, protocol_version, tenant: approved by a manager
  new_origin      text,           -- of the interface that the card names now, until a manager accepts it
  credential      text,           -- sealed, with the app's id as additional data
  credential_type text,           -- bearer, api_key
  fetched_at      timestamptz(3) not null,
  read_at         timestamptz(3) not null -- last attempt to read the card
);
create index a2a_apps_read on a2a_apps (read_at);

-- The conversation of one agent session. Its row serialises the messages of the session.
create table a2a_sessions (
  session_id   text primary key references agent_sessions on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  app_id       text not null references agent_apps on delete cascade,
  context_id   text -- null until the agent has answered
);

-- A message that was sent, or is being sent. Servers do not recognise a repeated message, so it is written before.
create table a2a_messages (
  delivery_id  text primary key,
  session_id   text not null references a2a_sessions on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  attempt      int not null,            -- its number
  started_at   timestamptz(3) not null,
  give_up_at   timestamptz(3) not null, -- no worker waits longer for the answer
  outcome      text,                    -- answered, failed; null while it is being sent
  request      jsonb                    -- headers and body as sent, without the credential
);
create index a2a_messages_session on a2a_messages (session_id);
create index a2a_messages_started on a2a_messages (started_at); -- old ones are deleted

create table a2a_tasks (
  id           text primary key,
  session_id   text not null references a2a_sessions on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  app_id       text not null references agent_apps on delete cascade,
  task_id      text not null, -- of the agent
  context_id   text not null,
  state        text not null,
  tracked      boolean not null,        -- a worker follows it
  cancel_sent  boolean not null default false,
  owner        text,                    -- of the worker that follows it
  owner_until  timestamptz(3),
  changed_at   timestamptz(3) not null, -- the agent last reported something new
  updated_at   timestamptz(3) not null,
  unique (session_id, task_id)
);
create index a2a_tasks_newest on a2a_tasks (app_id, id desc);
create index a2a_tasks_tracked on a2a_tasks (owner_until) where tracked;

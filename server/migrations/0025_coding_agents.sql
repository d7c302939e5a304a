-- What coding agents report: changes in a repository, and usage, which budgets limit.

-- Apart from the session, because it is large: reading a session reads the summary alone.
create table session_changes (
  session_id   text primary key references agent_sessions on delete cascade,
  workspace_id text not null,
  version      int not null,
  hash         bytea not null, -- of the body, to recognise the same changes
  body         json not null,  -- json, not jsonb: it is returned as it is, and never searched
  updated_at   timestamptz(3) not null
);

alter table agent_sessions
  add column changes json, -- the summary of session_changes
  add column usage json,
  add column budget_notified text[] not null default '{}'; -- the limits of which managers were notified

alter table agent_apps add column budget json;

-- What all sessions of an app reported in one UTC month, such as 2026-03. No references: a new row would lock the app,
-- and deleting an app locks it before its sessions.
create table app_usage (
  app_id          text not null,
  month           text not null,
  workspace_id    text not null,
  sessions        int not null,
  input_tokens    bigint not null,
  output_tokens   bigint not null,
  costs           jsonb not null, -- by currency, in millionths
  budget_notified text[] not null default '{}',
  primary key (app_id, month)
);

-- When a listener last caught up (run.listen-catch-up).
alter table endpoints add column caught_up_at timestamptz(3);

-- Apps that were written for Linear: their tokens, the bodies of their deliveries, and the ids that they choose.

alter table agent_apps add column compat text; -- null, or linear

alter table oauth_requests add column compat text; -- linear: asked for at /linear; code_challenge is '' without PKCE
alter table grants
  add column compat text, -- linear: its tokens work at /linear only
  add column by_secret boolean not null default false; -- ends when the client secret is rotated

-- A body in another format than the event's; written in the transaction of the event.
alter table deliveries
  add column format text, -- null: the body of the event
  add column body text;

-- The id that an app chose for an item, by which it finds it, and a hash of the input that created it.
create table linear_aliases (
  workspace_id text not null references workspaces on delete cascade,
  user_id      text not null references users on delete cascade, -- of the app
  client_id    text not null,
  item_id      text not null,
  request_hash bytea not null,
  created_at   timestamptz(3) not null,
  primary key (user_id, client_id)
);
create index linear_aliases_workspace on linear_aliases (workspace_id);

-- An activity is asked for by its id alone.
create index if not exists agent_activities_id on agent_activities (id);

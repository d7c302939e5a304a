-- What the web app asks for: more ways to filter lists, and views that people keep.

-- Sessions that go on, and those that are over, newest first.
create index agent_sessions_open on agent_sessions (workspace_id, id desc) where ended_at is null;
create index agent_sessions_ended on agent_sessions (workspace_id, id desc) where ended_at is not null;

-- Few issues are urgent. Of the types each has its share, so that the newest of one are soon found among all.
create index issues_priority on issues (workspace_id, priority, id desc);

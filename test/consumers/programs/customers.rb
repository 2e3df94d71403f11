# Creates, updates and lists customers with the generated library in a folder.
require 'json'
require 'uri'

$LOAD_PATH.unshift(File.join(ARGV[0], 'lib'))
require 'openapi_client'
include OpenapiClient

OpenapiClient.configure do |config|
  url = URI(ENV.fetch('API_URL'))
  config.scheme = url.scheme
  config.host = "#{url.host}:#{url.port}"
  config.api_key['Authorization'] = ENV.fetch('API_KEY')
  config.api_key_prefix['Authorization'] = 'Bearer'
end
api = CustomersApi.new
made = api.create_customer(CustomerCreate.new(name: 'Ana', tags: ['vip'], address: AddressInput.new(city: 'Lisboa')))
updated = api.update_customer(made.id, CustomerUpdate.new(notes: 'Met at the fair.'))
pages = [api.list_customers(limit: 1, sort: '-createdAt')]
pages << api.list_customers(limit: 1, cursor: pages[0].pagination.next_cursor)
begin
  api.create_customer(CustomerCreate.new(email: 'nobody'))
rescue ApiError => error
  refused = JSON.parse(error.response_body)['code']
end
names = pages.flat_map { |page| page.data.map(&:name) }
puts JSON.generate(id: made.id, city: updated.address.city, names: names, refused: refused)

// Creates, gets, updates and lists customers with the generated package.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"proposalapi"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The code in the body of a rejected request.
func code(err error) string {
	var problem struct{ Code string }
	check(json.Unmarshal(err.(proposalapi.GenericOpenAPIError).Body(), &problem))
	return problem.Code
}

func names(list proposalapi.CustomerList) []string {
	found := []string{}
	for _, customer := range list.Data {
		found = append(found, customer.Name)
	}
	return found
}

func main() {
	configuration := proposalapi.NewConfiguration()
	address, err := url.Parse(os.Getenv("API_URL"))
	check(err)
	configuration.Scheme, configuration.Host = address.Scheme, address.Host
	api := proposalapi.NewAPIClient(configuration).CustomersApi
	key := context.WithValue(context.Background(), proposalapi.ContextAccessToken, os.Getenv("API_KEY"))

	name, city, tags := "Ana", "Lisboa", []string{"vip"}
	given := proposalapi.CustomerCreate{Name: &name, Tags: tags}
	given.SetAddress(proposalapi.AddressInput{City: *proposalapi.NewNullableString(&city)})
	made, _, err := api.CreateCustomer(key).CustomerCreate(given).Execute()
	check(err)
	got, _, err := api.GetCustomer(key, made.Id).Execute()
	check(err)
	change := proposalapi.CustomerUpdate{}
	change.SetNotes("Met at the fair.")
	updated, _, err := api.UpdateCustomer(key, got.Id).CustomerUpdate(change).Execute()
	check(err)
	found, _, err := api.ListCustomers(key).Tag("vip").CreatedSince(made.CreatedAt).Execute()
	check(err)
	first, _, err := api.ListCustomers(key).Limit(1).Sort("-createdAt").Execute()
	check(err)
	second, _, err := api.ListCustomers(key).Limit(1).Cursor(*first.Pagination.NextCursor.Get()).Execute()
	check(err)
	_, _, missing := api.GetCustomer(key, "cus_00000000000000000000000000").Execute()
	nobody := proposalapi.CustomerCreate{}
	nobody.SetEmail("nobody")
	_, _, refused := api.CreateCustomer(key).CustomerCreate(nobody).Execute()

	text, err := json.Marshal(map[string]interface{}{
		"id":      updated.Id,
		"city":    updated.Address.Get().City.Get(),
		"found":   names(found),
		"names":   append(names(first), names(second)...),
		"missing": code(missing),
		"refused": code(refused),
	})
	check(err)
	fmt.Println(string(text))
}
